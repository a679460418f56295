ALTER TABLE "payments"."payments" ADD COLUMN "topup_fees" text;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "fee_minor" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD CONSTRAINT "payments_fee" CHECK ("payments"."payments"."fee_minor" >= 0 and "payments"."payments"."fee_minor" < "payments"."payments"."fiat_minor");