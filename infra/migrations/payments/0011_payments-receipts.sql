ALTER TABLE "payments"."payments" ADD COLUMN "issuer" text;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "bank_receipt" text;--> statement-breakpoint
ALTER TABLE "payments"."anomalies" ADD COLUMN "bank_receipt" text;